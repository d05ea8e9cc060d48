/**
 * Node's function for loading its built-in modules. It is undefined in browsers. Node's functions are several times
 * faster than plain JavaScript.
 */
export const builtinModule = (globalThis as { process?: Partial<NodeJS.Process> }).process?.getBuiltinModule;
