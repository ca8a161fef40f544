"""Configuration of the documentation site: `make docs`."""

import tacit

project = "tacit"
author = "The tacit developers"
copyright = author
version = release = tacit.__version__

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "numpydoc"]
exclude_patterns = ["sweep", "papers/*/*"]
html_theme = "furo"
html_title = f"tacit {version}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = ["site.js"]

# Pages are read on GitHub too: links there go to files, and headings have anchors.
myst_heading_anchors = 4
myst_enable_extensions = ["dollarmath"]

nb_execution_mode = "force"
nb_execution_timeout = 300
nb_execution_raise_on_error = True

# Fields of results are documented where they are defined, and need no second list.
numpydoc_show_class_members = False
autodoc_member_order = "bysource"
autosummary_generate = True
default_role = "literal"
