"""The question, the answer, how sure it is, the time it took and the data: a Report, and the page that shows it."""
