import { useState } from "preact/hooks";
import { Command } from "../../shared/copyable.tsx";

/** The same program in several languages, one at a time. @param props `codes` are the programs by language */
export function CodeTabs({ codes }: { codes: Readonly<Record<string, string>> }) {
  const [language, setLanguage] = useState(Object.keys(codes)[0] ?? "");
  return (
    <div class="code-tabs">
      <div class="buttons" role="group" aria-label="Language">
        {Object.keys(codes).map((name) => (
          <button
            key={name}
            type="button"
            class="button button-small"
            aria-pressed={name === language}
            onClick={() => {
              setLanguage(name);
            }}
          >
            {name}
          </button>
        ))}
      </div>
      <Command command={codes[language] ?? ""} />
    </div>
  );
}
