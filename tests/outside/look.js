"use strict";
// What tests/browser.rs asks of a page in a frame.
var frame = document.getElementById("page");

function color(text) {
  var parts = text.match(/[\d.]+/g).map(Number);
  return { rgb: parts.slice(0, 3), alpha: parts.length > 3 ? parts[3] : 1 };
}

function luminance(rgb) {
  var linear = rgb.map(function (c) {
    var x = c / 255;
    return x <= 0.04045 ? x / 12.92 : Math.pow((x + 0.055) / 1.055, 2.4);
  });
  return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2];
}

function ground(view, element) {
  for (var at = element; at; at = at.parentElement) {
    var found = color(view.getComputedStyle(at).backgroundColor);
    if (found.alpha === 1) { return found.rgb; }
  }
  return [255, 255, 255];
}

function contrasts(page, view) {
  var low = [], texts = 0;
  var walker = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    var element = walker.currentNode.parentElement;
    if (!walker.currentNode.textContent.trim() || element.closest("script, svg title, svg desc")) { continue; }
    if (view.getComputedStyle(element).display === "none") { continue; }
    texts += 1;
    var style = view.getComputedStyle(element);
    // Cells of a heatmap have grounds of their own.
    if (element.closest("svg") && element.getAttribute("fill") !== "currentColor") { continue; }
    var ink = luminance(color(element.closest("svg") ? style.fill : style.color).rgb);
    var back = luminance(ground(view, element));
    var ratio = (Math.max(ink, back) + 0.05) / (Math.min(ink, back) + 0.05);
    if (ratio < 4.5) { low.push([walker.currentNode.textContent.trim().slice(0, 40), ratio]); }
  }
  return { low: low, texts: texts };
}

// Presses each button twice; what is not in order then.
function unsorted(page) {
  var wrong = [];
  page.querySelectorAll("table.sortable").forEach(function (table) {
    var count = table.tBodies[0].rows.length;
    Array.from(table.tHead.rows[0].cells).forEach(function (head, column) {
      for (var press = 0; press < 2; press += 1) {
        head.querySelector("button").click();
        var sort = head.getAttribute("aria-sort");
        var sign = sort === "ascending" ? 1 : sort === "descending" ? -1 : 0;
        var cells = Array.from(table.tBodies[0].rows, function (row) { return row.cells[column].textContent; });
        var ordered = sign !== 0 && cells.length === count && cells.every(function (cell, at) {
          if (at === 0) { return true; }
          if (!head.classList.contains("number")) {
            return sign * cells[at - 1].localeCompare(cell, undefined, { numeric: true }) <= 0;
          }
          var before = parseFloat(cells[at - 1]), here = parseFloat(cell);
          return isNaN(here) || (!isNaN(before) && sign * (before - here) <= 0);
        });
        var others = table.tHead.querySelectorAll("[aria-sort]").length;
        if (!ordered || others !== 1) { wrong.push([head.textContent, sort, cells.slice(0, 6)]); }
      }
    });
  });
  return wrong;
}

frame.addEventListener("load", function () {
  var page = frame.contentDocument, view = frame.contentWindow;
  var contrast = contrasts(page, view);
  var list = page.querySelector("dl").getBoundingClientRect();
  var pre = document.createElement("pre");
  pre.id = "findings";
  pre.textContent = JSON.stringify({
    dark: view.matchMedia("(prefers-color-scheme: dark)").matches,
    scrollWidth: Math.max(page.documentElement.scrollWidth, page.body.scrollWidth),
    firstScreen: list.bottom,
    texts: contrast.texts,
    lowContrast: contrast.low,
    buttons: page.querySelectorAll("th button").length,
    unsorted: unsorted(page)
  });
  document.body.appendChild(pre);
});
