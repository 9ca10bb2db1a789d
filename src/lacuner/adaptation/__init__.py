"""An encoder trained further on raw text, by filling gaps: for a domain, or to get a head."""
