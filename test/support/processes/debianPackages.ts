import { execFileSync } from "node:child_process";
import { globSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

/** Debian's packages, downloaded to a folder of `node_modules/.cache` and unpacked for a test. Nothing is installed. */
export class DebianPackages {
  readonly #cache: string;
  readonly #names: readonly string[];

  /** @param name the folder's name */
  constructor(name: string, packages: readonly string[]) {
    this.#cache = fileURLToPath(new URL(`../../../node_modules/.cache/${name}`, import.meta.url));
    this.#names = packages;
  }

  /** Whether all packages are downloaded. */
  get areCached(): boolean {
    return this.#cached().length > 0;
  }

  /** Downloads missing packages, and unpacks all packages into a folder. @throws Error with the names of the packages */
  unpack(root: string): void {
    if (!this.areCached) this.#download();
    mkdirSync(root, { recursive: true, mode: 0o755 });
    for (const file of this.#cached()) execFileSync("dpkg-deb", ["-x", file, root]);
  }

  #cached(): string[] {
    const found = globSync(join(this.#cache, "*.deb"));
    const isCached = (name: string) => found.some((path) => path.startsWith(join(this.#cache, `${name}_`)));
    return this.#names.every(isCached) ? found : [];
  }

  #download(): void {
    mkdirSync(this.#cache, { recursive: true });
    try {
      execFileSync("apt-get", ["download", ...this.#names], { cwd: this.#cache, stdio: "pipe" });
    } catch (cause) {
      throw new Error(`Debian's packages cannot be downloaded: ${this.#names.join(", ")}.`, { cause });
    }
  }
}
