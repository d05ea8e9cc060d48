/** The configuration with the addresses of docs/scaling.md. A test compares it with the page. */
import {
  type ClusterSettings,
  etcdEnvironment,
  type NodeSettings,
  type ProxySettings,
  type Replica,
  replicaEnvironment,
} from "./configuration.ts";

const nodes = [1, 2, 3].map((i): NodeSettings => {
  return {
    name: `node${i}`,
    host: `10.0.0.1${i}`,
    postgresPort: 5432,
    restPort: 8008,
    data: "/var/lib/postgresql/15/keyroot",
    bin: "/usr/lib/postgresql/15/bin",
    pgpass: "/var/lib/postgresql/pgpass",
  };
});
const replicas = [1, 2].map((i): Replica => ({ host: `10.0.0.3${i}`, port: 8547, monitoringPort: 9547 }));
const [first = { host: "10.0.0.31", port: 8547, monitoringPort: 9547 }] = replicas;

const cluster: ClusterSettings = {
  etcd: "10.0.0.21:2379",
  nodes,
  network: "10.0.0.0/24",
  passwords: { superuser: "…", replication: "…", service: "…" },
};
const proxy: ProxySettings = {
  nodes,
  replicas,
  database: "10.0.0.20:5432",
  api: "127.0.0.1:8547",
  unavailable: "/etc/haproxy/unavailable.http",
};

export const documented = {
  cluster,
  proxy,
  etcd: etcdEnvironment("10.0.0.21:2379", "10.0.0.21:2380", "/var/lib/etcd/default"),
  replica: replicaEnvironment(first, "postgres://keyroot:…@10.0.0.20:5432/keyroot", "127.0.0.1,10.0.0.20"),
};
