// Tables, code and types that are larger than their place can be scrolled with the keyboard.
const resized = new ResizeObserver((entries) => {
  for (const { target } of entries) {
    if (target.scrollWidth > target.clientWidth || target.scrollHeight > target.clientHeight) target.tabIndex = 0;
    else target.removeAttribute("tabindex");
  }
});
for (const wide of document.querySelectorAll(".tsd-typography :is(table, pre), .tsd-signature")) resized.observe(wide);

// Pictures have the colors that the reader chose for the site, also if the system has others.
const root = document.documentElement;
const showPictures = () => {
  const { theme } = root.dataset;
  const media = { light: "not all", dark: "all" }[theme] ?? "(prefers-color-scheme: dark)";
  for (const source of document.querySelectorAll("picture > source")) source.media = media;
};
new MutationObserver(showPictures).observe(root, { attributeFilter: ["data-theme"] });
showPictures();
