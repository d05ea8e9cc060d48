/** The hashes of all scripts and stylesheets. Visitors can compare the hashes with their own build. */
export function BuildHashes() {
  const elements = [...document.querySelectorAll("script[integrity], link[integrity]")];
  const pinned = [
    ...elements.map((element) => ({
      name: element.getAttribute("src") ?? element.getAttribute("href") ?? "",
      integrity: element.getAttribute("integrity") ?? "",
    })),
    ...Object.values(WORKERS).map(({ url, integrity }) => ({ name: url, integrity })),
  ];
  return (
    <details>
      <summary>Build hashes</summary>
      <p>
        The page loads only these files. Your browser compares each with its hash. All explorers of one version have the
        same files. To compare them, make your own explorer:{" "}
        <code>npx -p @keyroot/operator keyroot explorer --out explorer …</code>
      </p>
      <dl class="hashes">
        {pinned.map(({ name, integrity }) => (
          <div key={name}>
            <dt>{name.replace(/^.*\//, "")}</dt>
            <dd>
              <code>{integrity}</code>
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
