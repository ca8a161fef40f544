"""Pictures that no paper has: the limit and the optimum beside what the papers claim."""
