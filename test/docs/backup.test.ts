import { expect } from "chai";
import { archiveCommand, recoverySettings } from "../service/faults/restore/backup.ts";
import { blocksOf, readPage } from "../support/pages.ts";

describe("docs/backup.md", () => {
  it("shows the settings that restoreDrill.test.ts tests", async () => {
    const page = await readPage("docs/backup.md");
    const [archive] = blocksOf(page, "sh");
    expect(archive).to.include(archiveCommand("/var/backups/keyroot"));
    const [restore] = blocksOf(page, "sh", "Restore to a point in time");
    expect(restore).to.include(recoverySettings("/var/backups/keyroot", "2026-01-31 12:00:00+00"));
  });
});
