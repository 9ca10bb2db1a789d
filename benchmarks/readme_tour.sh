#!/usr/bin/env bash
# The commands of the README's five minutes, as a newcomer types them; what they print is what the README shows.
#     benchmarks/readme_tour.sh FOLDER > benchmarks/results/readme_tour.txt
# One thread, so that any machine of the same kind gets the same weights; about fifteen minutes.
set -euo pipefail
export OMP_NUM_THREADS=1
cd "$1"
tour() { echo "\$ $*"; "$@" 2>&1; }
tour lacuner demo --files demo-files
tour lacuner label demo-files/train.txt --names demo-files/names -o distant.jsonl
tour lacuner stats distant.jsonl --gold demo-files/train_gold.jsonl
tour lacuner train distant.jsonl --dev demo-files/dev.jsonl -o run
tour lacuner refill run -o filled.jsonl --changes changes.jsonl
tour lacuner predict run demo-files/test.jsonl -o found.jsonl
tour lacuner evaluate found.jsonl --gold demo-files/test.jsonl
echo '$ python'
python - <<'PYTHON'
import lacuner
recogniser = lacuner.load("run")
for entity in recogniser("Maren Holt flew from Gdynia to Osaka."):
    print(entity.text, entity.label, entity.start, entity.end, round(entity.score, 2))
PYTHON
