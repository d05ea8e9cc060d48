import type { BodyOf, OperationPath } from "@keyroot/service";
import { useState } from "preact/hooks";
import { formatCount } from "../../shared/format.ts";
import { saveFile } from "../../shared/saveFile.ts";
import { Failure } from "./cards.tsx";
import { fetchAll, MAX_EXPORTED } from "./exportList.ts";
import { type ItemOf, type ItemsField, useAction } from "./useCall.ts";

const FORMATS = { csv: ["CSV", "text/csv"], jsonl: ["JSON lines", "application/jsonl"] } as const;

interface ExportProps<Path extends OperationPath, Field extends ItemsField<Path>> {
  path: Path;
  field: Field;
  filter: Omit<BodyOf<Path>, "limit" | "after">;
  /** The file's name without its ending. */
  name: string;
  /** The functions that write a file, by format. */
  formats: Partial<Record<keyof typeof FORMATS, (items: ItemOf<Path, Field>[]) => string>>;
}

/** Buttons that save all items of a list as a file, one for each format. */
export function ExportButtons<Path extends OperationPath, Field extends ItemsField<Path>>(
  props: ExportProps<Path, Field>,
) {
  const { path, field, filter, name, formats } = props;
  const [isCut, setCut] = useState(false);
  const save = useAction(async (format: keyof typeof FORMATS) => {
    const { items, isWhole } = await fetchAll(path, field, filter);
    saveFile(`${name}.${format}`, new Blob([formats[format]?.(items) ?? ""], { type: FORMATS[format][1] }));
    setCut(!isWhole);
  });
  return (
    <div class="buttons">
      {(Object.keys(formats) as (keyof typeof FORMATS)[]).map((format) => (
        <button
          key={format}
          type="button"
          class="button button-small"
          disabled={save.busy}
          onClick={() => void save.run(format)}
        >
          Export {FORMATS[format][0]}
        </button>
      ))}
      <p role="status" class="detail">
        {save.busy && "Loading the whole list…"}
        {isCut && !save.busy && `The file has the first ${formatCount(MAX_EXPORTED)} items. Use a filter for others.`}
      </p>
      <Failure error={save.error} />
    </div>
  );
}
