"""Studies: many runs of recipes on corpora, kept as rows, shown as tables and figures."""
