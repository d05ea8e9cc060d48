/** Moves the focus with the arrow keys between the links of a list, and between the list and the input above it. */
export function moveBetweenLinks(event: KeyboardEvent): void {
  const step = event.key === "ArrowDown" ? 1 : event.key === "ArrowUp" ? -1 : 0;
  if (step === 0) return;
  const stops = [...(event.currentTarget as HTMLElement).querySelectorAll<HTMLElement>("input, a")];
  const at = stops.indexOf(document.activeElement as HTMLElement);
  const next = at === -1 ? undefined : stops[at + step];
  if (next === undefined) return;
  event.preventDefault();
  next.focus();
}
