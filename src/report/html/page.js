"use strict";
document.querySelectorAll("table.sortable").forEach(function (table) {
  var heads = Array.from(table.tHead.rows[0].cells);
  var body = table.tBodies[0];
  heads.forEach(function (head, column) {
    var numeric = head.classList.contains("number");
    var button = document.createElement("button");
    button.type = "button";
    while (head.firstChild) { button.appendChild(head.firstChild); }
    head.appendChild(button);
    button.addEventListener("click", function () {
      var old = head.getAttribute("aria-sort");
      var down = old === null ? numeric : old === "ascending";
      var keyed = Array.from(body.rows, function (row) {
        var text = row.cells[column].textContent;
        return { row: row, key: numeric ? parseFloat(text) : text };
      });
      keyed.sort(function (one, other) {
        if (!numeric) {
          var order = one.key.localeCompare(other.key, undefined, { numeric: true });
          return down ? -order : order;
        }
        // What has no number stays last either way.
        if (isNaN(one.key)) { return isNaN(other.key) ? 0 : 1; }
        if (isNaN(other.key)) { return -1; }
        return down ? other.key - one.key : one.key - other.key;
      });
      body.append.apply(body, keyed.map(function (entry) { return entry.row; }));
      heads.forEach(function (each) { each.removeAttribute("aria-sort"); });
      head.setAttribute("aria-sort", down ? "descending" : "ascending");
    });
  });
});
document.querySelectorAll("table").forEach(function (table) {
  var rows = Array.from(table.tBodies[0].rows);
  if (20 > rows.length) { return; }
  var input = document.createElement("input");
  input.type = "search";
  input.className = "filter";
  input.placeholder = "Show rows with …";
  input.setAttribute("aria-label", "Show rows with these words");
  var texts = rows.map(function (row) {
    // A long label is whole in its title.
    var cells = Array.from(row.cells, function (cell) { return cell.title + " " + cell.textContent; });
    return cells.join(" ").toLowerCase();
  });
  input.addEventListener("input", function () {
    var words = input.value.toLowerCase().split(/\s+/);
    rows.forEach(function (row, at) {
      row.hidden = !words.every(function (word) { return texts[at].indexOf(word) >= 0; });
    });
  });
  var box = table.closest(".scroll") || table;
  box.parentNode.insertBefore(input, box);
});
document.querySelectorAll("code.command").forEach(function (code) {
  var button = document.createElement("button");
  button.type = "button";
  button.className = "copy";
  button.textContent = "Copy";
  button.addEventListener("click", function () {
    var done = function () { button.textContent = "Copied"; };
    var marked = function () {
      var range = document.createRange();
      range.selectNodeContents(code);
      var selection = window.getSelection();
      selection.removeAllRanges();
      selection.addRange(range);
      button.textContent = document.execCommand("copy") ? "Copied" : "Marked";
    };
    if (navigator.clipboard) { navigator.clipboard.writeText(code.textContent).then(done, marked); } else { marked(); }
  });
  code.parentNode.insertBefore(button, code.nextSibling);
});
// What pictures say where a pointer rests: at once, and where a finger taps. Without this a browser shows most of it as
// titles, after a while.
(function () {
  var tip = document.createElement("div");
  tip.className = "tip";
  tip.hidden = true;
  document.body.appendChild(tip);
  document.querySelectorAll("svg").forEach(function (svg) {
    var title = svg.querySelector("title");
    if (title === null) { return; }
    svg.setAttribute("aria-label", title.textContent);
    title.remove();
  });
  document.querySelectorAll("svg .tips title").forEach(function (title) {
    title.parentNode.setAttribute("data-tip", title.textContent);
    title.remove();
  });
  // A cell of a picture that has too many for an area each.
  var cell = function (area, event) {
    var cells = area.parentNode;
    var numbers = function (name) { return cells.getAttribute(name).split(" ").map(Number); };
    var size = numbers("data-size");
    var box = area.getBoundingClientRect();
    var row = Math.floor(size[0] * (event.clientY - box.top) / box.height);
    var column = Math.floor(size[1] * (event.clientX - box.left) / box.width);
    if (0 > row || row >= size[0] || 0 > column || column >= size[1]) { return null; }
    var labels = cells.querySelector("desc").textContent.split("\n");
    var same = labels.length === size[0];
    if (same ? row === column : false) { return null; }
    var range = numbers("data-range");
    var digits = cells.getAttribute("data-values").substr(2 * (row * size[1] + column), 2);
    var value = range[0] + parseInt(digits, 36) / 1000 * (range[1] - range[0]);
    var name = labels[row] + " | " + labels[same ? column : size[0] + column];
    return name + ": " + (digits === "--" ? "n/a" : value.toFixed(3));
  };
  var show = function (event) {
    var area = event.target;
    var text = null;
    if (area.getAttribute) {
      text = area.getAttribute("data-tip");
      if (area.parentNode.getAttribute ? area.parentNode.getAttribute("class") === "cells" : false) { text = cell(area, event); }
    }
    tip.hidden = text === null;
    if (text === null) { return; }
    tip.textContent = text;
    var left = Math.min(event.clientX + 14, document.documentElement.clientWidth - tip.offsetWidth - 6);
    var below = event.clientY + 18;
    var fits = window.innerHeight > below + tip.offsetHeight;
    tip.style.left = Math.max(4, left) + "px";
    tip.style.top = (fits ? below : event.clientY - tip.offsetHeight - 12) + "px";
  };
  document.addEventListener("pointermove", show);
  document.addEventListener("pointerdown", show);
  document.addEventListener("scroll", function () { tip.hidden = true; }, true);
})();
document.querySelectorAll("section[id]").forEach(function (section) {
  var link = document.createElement("a");
  link.href = "#" + section.id;
  link.className = "anchor";
  link.textContent = "#";
  link.setAttribute("aria-label", "link to this section");
  section.querySelector("h2").appendChild(link);
});
