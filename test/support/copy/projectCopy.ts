import { expect } from "chai";
import { existsSync } from "node:fs";
import { cp, mkdir, mkdtemp, readdir, readFile, rm, symlink, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { ROOT } from "../../../scripts/test/root.ts";
import { run } from "../packages/installPackages.ts";

/** What an engineer adds, by the file. An existing file gets the text before the given words. */
export type Addition = Readonly<Record<string, { text: string; before?: string }>>;

const PACKAGES = ["client", "keyroot", "operator", "service"];
/** The folders that a package's own programs read. */
const PARTS = ["src", "package.json", "node_modules"];
const FOLDERS = ["contracts", "docs", "scripts", "tasks", "typechain-types"];

/** A copy of the packages' sources and the project's scripts, in which the packages import each other. */
export class ProjectCopy {
  readonly folder: string;

  private constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<ProjectCopy> {
    await mkdir(join(ROOT, "build"), { recursive: true });
    const folder = await mkdtemp(join(ROOT, "build", "copy-"));
    const modules = join(folder, "node_modules");
    await mkdir(join(modules, "@keyroot"), { recursive: true });
    for (const name of PACKAGES) {
      for (const part of PARTS)
        if (existsSync(join(ROOT, "packages", name, part)))
          await cp(join(ROOT, "packages", name, part), join(folder, "packages", name, part), { recursive: true });
      const link = join(modules, name === "keyroot" ? name : `@keyroot/${name}`);
      await symlink(join(folder, "packages", name), link, "junction");
    }
    for (const name of FOLDERS) await cp(join(ROOT, name), join(folder, name), { recursive: true });
    await symlink(join(folder, "contracts"), join(modules, "@keyroot", "contracts"), "junction");
    for (const name of await readdir(join(ROOT, "node_modules")))
      if (name !== "keyroot" && name !== "@keyroot")
        await symlink(join(ROOT, "node_modules", name), join(modules, name), "junction");
    for (const name of ["package.json", "hardhat.config.ts"]) await cp(join(ROOT, name), join(folder, name));
    const config = { extends: "../../tsconfig.json", include: ["packages"] };
    await writeFile(join(folder, "tsconfig.json"), JSON.stringify(config));
    return new ProjectCopy(folder);
  }

  /** Writes an addition. The words before which a text is added must occur once. */
  async add(addition: Addition): Promise<void> {
    for (const [name, { text, before }] of Object.entries(addition)) {
      const path = join(this.folder, name);
      await mkdir(dirname(path), { recursive: true });
      if (before === undefined) {
        await writeFile(path, text);
        continue;
      }
      const old = await readFile(path, "utf8");
      expect(old.split(before), name).to.have.length(2);
      await writeFile(
        path,
        old.replace(before, () => text + before),
      );
    }
  }

  /** Returns the files in which the type checker finds an error. */
  async filesWithErrors(): Promise<string[]> {
    const checker = join(ROOT, "node_modules/typescript-7/bin/tsc");
    const checking = this.run(checker, "--singleThreaded", "--pretty", "false");
    const { stdout } = await checking.catch((error: unknown) => error as { stdout: string });
    return [...new Set(Array.from(stdout.matchAll(/^([^(\n]+)\(\d/gm), ([, name = ""]) => name))].toSorted();
  }

  /** Runs a program of the copy, or another one, with Node in the copy's folder. */
  run(...program: string[]): Promise<{ stdout: string }> {
    return run(process.execPath, program, { cwd: this.folder });
  }

  /** Loads a module of the copy. */
  load(name: string): Promise<unknown> {
    return import(join(this.folder, name));
  }

  async remove(): Promise<void> {
    await rm(this.folder, { recursive: true });
  }
}
