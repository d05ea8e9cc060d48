/** Saves a file as a download. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // After 10 s, the browser has started to read the file, so the URL is no longer needed.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}
