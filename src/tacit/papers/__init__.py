"""One folder for each paper: statements, geometry, figures, drawing. Papers never import papers."""
