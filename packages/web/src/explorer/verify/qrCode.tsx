import { callWorker } from "../shared/callWorker.ts";
import { useWorkerCall } from "../worker/useWorkerCall.ts";

/** The QR code of a text: black on white in every theme, because cameras expect it. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [rows] = useWorkerCall((signal) => callWorker("qr", "drawQr", text, { signal }), [text]);
  if (rows !== undefined && "defect" in rows) return <p class="error">{rows.defect}</p>;
  const size = rows?.length ?? 1;
  return (
    <svg class="qr-code" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={label} shape-rendering="crispEdges">
      {rows && <path d={rows.map(pathOf).join("")} />}
    </svg>
  );
}

/** Draws the dark modules of a row. */
function pathOf(row: string, y: number): string {
  return [...row.matchAll(/1+/g)].map(({ index, 0: run }) => `M${index} ${y}h${run.length}v1h-${run.length}z`).join("");
}
