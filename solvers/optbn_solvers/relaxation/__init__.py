"""What several methods share: orders, the dual ascent, the linear program, its ledger, rows, separation, local cuts."""
