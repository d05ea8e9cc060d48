/** Replacements for language features that ES2020 does not include. */

/** Checks whether an object has a member with this name that is not inherited. Replaces `Object.hasOwn` (ES2022). */
export function hasOwn(object: object, name: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, name);
}

/** Makes a promise, with the functions that settle the promise. Replaces `Promise.withResolvers` (ES2024). */
export function withResolvers<T>(): PromiseWithResolvers<T> {
  const resolvers = {} as PromiseWithResolvers<T>;
  resolvers.promise = new Promise((resolve, reject) => {
    resolvers.resolve = resolve;
    resolvers.reject = reject;
  });
  return resolvers;
}
