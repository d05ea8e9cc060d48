/** Replaces or removes (undefined) globals during `work`, as on platforms that do not have them. */
export async function withoutGlobals(globals: Readonly<Record<string, unknown>>, work: () => unknown): Promise<void> {
  const names = Object.keys(globals);
  const before = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name));
  for (const name of names)
    Object.defineProperty(globalThis, name, { value: globals[name], configurable: true, writable: true });
  try {
    await work();
  } finally {
    for (const [i, name] of names.entries()) {
      Reflect.deleteProperty(globalThis, name);
      const descriptor = before[i];
      if (descriptor) Object.defineProperty(globalThis, name, descriptor);
    }
  }
}
