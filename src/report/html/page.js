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
