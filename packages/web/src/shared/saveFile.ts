/** Saves a file as a download. */
export function saveFile(name: string, content: Blob): void {
  const url = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  // At this time, the browser has already started to read the file.
  setTimeout(() => {
    URL.revokeObjectURL(url);
  }, 10_000);
}
