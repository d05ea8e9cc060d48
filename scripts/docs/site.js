// Tables and code that are wider than the page can be scrolled with the keyboard.
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const wide of document.querySelectorAll(".tsd-typography :is(table, pre)")) resized.observe(wide);
