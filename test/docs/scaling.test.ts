import { expect } from "chai";
import { readConfig } from "../../packages/service/src/config/readConfig.ts";
import { haproxyCfg, patroniYml, UNAVAILABLE_HTTP } from "../service/faults/failover/configuration.ts";
import { documented } from "../service/faults/failover/documented.ts";
import { blocksOf, readPage, variablesIn } from "../support/pages.ts";

const page = await readPage("docs/scaling.md");
const blocks = (language: string) => blocksOf(page, language, "Survive the loss of a database server");
const linesOf = (variables: Record<string, string>) =>
  Object.entries(variables)
    .map(([name, value]) => `${name}=${value}\n`)
    .join("");

describe("docs/scaling.md", () => {
  const { cluster, proxy, etcd, replica } = documented;

  it("shows the configuration that killFailover.test.ts tests", () => {
    const [node = expect.fail("There is no node.")] = cluster.nodes;
    expect(blocks("yaml")).to.deep.equal([patroniYml(cluster, node)]);
    expect(blocks("haproxy")).to.deep.equal([haproxyCfg(proxy)]);
    expect(blocks("http")).to.deep.equal([UNAVAILABLE_HTTP]);
    expect(blocks("sh")).to.include(linesOf(etcd));
  });

  it("configures a replica with valid variables", () => {
    const [example = ""] = blocksOf(page, "sh").filter((text) => text.startsWith("DATABASE_URL="));
    expect(example).to.equal(linesOf(replica));
    const variables = {
      ...variablesIn(example),
      ...{ KEYROOT_SERVICE_URL: "https://keys.test", KEYROOT_SIGNING_KEYS: "/keys.json" },
      DATABASE_URL: "postgres://keyroot:password@10.0.0.20/keyroot",
    };
    expect(readConfig(variables)).to.include({ host: "10.0.0.31", connections: 10 });
  });
});
