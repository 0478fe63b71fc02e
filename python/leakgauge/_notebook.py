"""A report page inside a notebook's page."""

from __future__ import annotations

import os
import re


def without_frame(page: str) -> str:
    """The body of a page with its style, which reaches nothing around it.

    Rules are nested in one element, so that they end at its border. `:root` and `body` become that element. The
    script that sorts tables is left out: notebooks do not run it.
    """
    style = "".join(re.findall(r"<style[^>]*>(.*?)</style>", page, re.DOTALL))
    style = re.sub(r"<!\[CDATA\[|\]\]>|/\*.*?\*/", "", style, flags=re.DOTALL)
    body = re.search(r"<body[^>]*>(.*)</body>", page, re.DOTALL)
    inside = re.sub(r"<script.*?</script>", "", body.group(1) if body else page, flags=re.DOTALL)
    # Two reports in one notebook must not share the names that links and pictures refer to.
    own = f"lg{os.urandom(4).hex()}"
    inside = re.sub(r'\b(id|for)="([^"]+)"', rf'\1="{own}-\2"', inside)
    inside = re.sub(r'href="#([^"]+)"', rf'href="#{own}-\1"', inside)
    inside = re.sub(r"url\(#([^)]+)\)", rf"url(#{own}-\1)", inside)
    inside = re.sub(r'\b(aria-labelledby|aria-describedby)="([^"]+)"', lambda found: _prefixed(found, own), inside)
    themes = _themes(style, own)
    style = re.sub(r"(?<![\w-])(:root|html|body)(?![\w-])", "&", style)
    return f'<div class="{own}"><style>.{own} {{ {style} }}{themes}</style>{inside}</div>'


# What notebooks mark their theme with. JupyterLab and Notebook 7: an attribute of `body`; VS Code: a class of `body`;
# Colab: an attribute of `html`.
_MARKS = {
    "light": ('[data-jp-theme-light="true"]', ".vscode-light", 'html[theme="light"]'),
    "dark": ('[data-jp-theme-light="false"]', ".vscode-dark", 'html[theme="dark"]'),
}


def _themes(style: str, own: str) -> str:
    """The colors of the notebook's theme, which need not be that of the system. On paper the page's own hold."""
    colors = {
        "light": re.match(r"\s*:root\s*\{([^{}]*)\}", style),
        "dark": re.search(r"@media \(prefers-color-scheme: dark\)\s*\{\s*:root\s*\{([^{}]*)\}", style),
    }
    rules = []
    for theme, found in colors.items():
        if found is not None:
            where = ", ".join(f"{mark} .{own}" for mark in _MARKS[theme])
            rules.append(f"{where} {{ {found.group(1).strip()} color-scheme: {theme}; }}")
    return f"@media screen {{ {' '.join(rules)} }}" if rules else ""


def _prefixed(found: re.Match[str], own: str) -> str:
    names = " ".join(f"{own}-{name}" for name in found.group(2).split())
    return f'{found.group(1)}="{names}"'
