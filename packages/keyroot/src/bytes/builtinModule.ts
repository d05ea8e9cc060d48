/**
 * Node's function that loads built-in modules. Undefined in browsers. Functions of these modules are several times
 * faster than plain JavaScript.
 */
export const builtinModule = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule;
