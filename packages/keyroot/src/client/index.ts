export { ANSWER } from "./answers.ts";
export { checkOptions } from "./options.ts";
export { poster } from "./post.ts";
