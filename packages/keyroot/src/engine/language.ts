/** Functions of the language that engines with ES2020 do not have. */

/** Whether an object has a member itself, not by inheritance (ES2022: `Object.hasOwn`). */
export function hasOwn(object: object, name: string): boolean {
  return Object.prototype.hasOwnProperty.call(object, name);
}

/** A promise, and the functions that settle it (ES2024: `Promise.withResolvers`). */
export function withResolvers<T>(): PromiseWithResolvers<T> {
  const resolvers = {} as PromiseWithResolvers<T>;
  resolvers.promise = new Promise((resolve, reject) => {
    resolvers.resolve = resolve;
    resolvers.reject = reject;
  });
  return resolvers;
}
