"""The steps of `learn`: reading, scoring, searching, fitting, comparing, reporting, each a function of one `Job`."""
