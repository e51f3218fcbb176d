"""The cellar: tables, constraints, solutions, budgets, files; what every other floor stands on."""
