"""What was asked, what came out, how sure, how long, on what: a Report, and the page that shows it."""
