/**
 * The configuration that `FAULTS=large npm test -- test/service/faults/killFailover.test.ts` tests. docs/scaling.md
 * shows the same lines with different addresses and passwords, and a test compares both.
 */

/** A machine with Patroni and PostgreSQL. */
export interface NodeSettings {
  name: string;
  host: string;
  postgresPort: number;
  /** The port of Patroni's REST API. */
  restPort: number;
  /** The folders of PostgreSQL's data and programs. */
  data: string;
  bin: string;
  /** The file into which Patroni may write passwords for PostgreSQL's programs. */
  pgpass: string;
}

export interface ClusterSettings {
  /** The address (`host:port`) at which etcd accepts clients. */
  etcd: string;
  nodes: readonly NodeSettings[];
  /** The addresses from which nodes and HAProxy connect to PostgreSQL, such as `10.0.0.0/24`. */
  network: string;
  /** The passwords of PostgreSQL's users `postgres`, `replicator` and `keyroot`. */
  passwords: { superuser: string; replication: string; service: string };
}

export interface Replica {
  host: string;
  port: number;
  monitoringPort: number;
}

export interface ProxySettings extends Pick<ClusterSettings, "nodes"> {
  replicas: readonly Replica[];
  /** The addresses (`host:port`) of HAProxy: for replicas, which it connects to the leader, and for callers. */
  database: string;
  api: string;
  /** A file with HAProxy's response while no replica can respond. */
  unavailable: string;
}

/** Returns the `patroni.yml` of one node. */
export function patroniYml({ etcd, network, passwords }: ClusterSettings, node: NodeSettings): string {
  const { name, host, postgresPort, restPort, data, bin, pgpass } = node;
  return `scope: keyroot
name: ${name}

restapi:
  listen: ${host}:${restPort}
  connect_address: ${host}:${restPort}

# Not etcd3: with Patroni 3.0.2 a paused leader that resumes takes the lock back, and acknowledged rows are lost.
etcd:
  host: ${etcd}

bootstrap:
  dcs:
    ttl: 5
    loop_wait: 1
    retry_timeout: 2
    primary_start_timeout: 0
    maximum_lag_on_failover: 1048576
    synchronous_mode: true
    postgresql:
      use_pg_rewind: true
      parameters:
        wal_log_hints: "on"
        max_connections: 100
  initdb:
    - encoding: UTF8
    - locale: C
    - data-checksums
  pg_hba:
    - host replication replicator ${network} scram-sha-256
    - host all all ${network} scram-sha-256

postgresql:
  listen: ${host}:${postgresPort}
  connect_address: ${host}:${postgresPort}
  data_dir: ${data}
  bin_dir: ${bin}
  pgpass: ${pgpass}
  authentication:
    superuser:
      username: postgres
      password: ${passwords.superuser}
    replication:
      username: replicator
      password: ${passwords.replication}
  parameters:
    password_encryption: scram-sha-256
    unix_socket_directories: ""

watchdog:
  mode: "off"
`;
}

/**
 * Returns the environment of etcd, as in `/etc/default/etcd`. Patroni's driver `etcd` needs version 2 of etcd's API.
 */
export function etcdEnvironment(client: string, peer: string, data: string): Record<string, string> {
  return {
    ETCD_NAME: "etcd1",
    ETCD_DATA_DIR: data,
    ETCD_ENABLE_V2: "true",
    ETCD_LISTEN_CLIENT_URLS: `http://${client}`,
    ETCD_ADVERTISE_CLIENT_URLS: `http://${client}`,
    ETCD_LISTEN_PEER_URLS: `http://${peer}`,
    ETCD_INITIAL_ADVERTISE_PEER_URLS: `http://${peer}`,
    ETCD_INITIAL_CLUSTER: `etcd1=http://${peer}`,
  };
}

/** Returns the environment variables that connect a replica to the cluster. */
export function replicaEnvironment(
  { host, port, monitoringPort }: Replica,
  databaseUrl: string,
  proxies: string,
): Record<string, string> {
  return {
    DATABASE_URL: databaseUrl,
    KEYROOT_DATABASE_CONNECTIONS: "10",
    KEYROOT_HOST: host,
    KEYROOT_PORT: String(port),
    KEYROOT_MONITORING_PORT: String(monitoringPort),
    KEYROOT_TRUSTED_PROXIES: proxies,
  };
}

/** Returns the `haproxy.cfg`, which connects replicas to the leader, and callers to the replicas. */
export function haproxyCfg({ nodes, replicas, database, api, unavailable }: ProxySettings): string {
  const servers = nodes.map(
    ({ name, host, postgresPort, restPort }) =>
      `    server ${name} ${host}:${postgresPort} check port ${restPort} inter 300ms fall 2 rise 1 on-marked-down shutdown-sessions`,
  );
  const services = replicas.map(
    ({ host, port, monitoringPort }, i) =>
      `    server replica${i + 1} ${host}:${port} check port ${monitoringPort} inter 500ms fall 2 rise 1`,
  );
  return `global
    maxconn 2000

defaults
    timeout connect 2s
    timeout check 1s
    timeout queue 2s

listen postgres
    mode tcp
    bind ${database}
    option httpchk OPTIONS /primary
    http-check expect status 200
    timeout client 1h
    timeout server 1h
    option clitcpka
    option srvtcpka
${servers.join("\n")}

listen keyroot
    mode http
    bind ${api}
    option httpchk GET /readyz
    http-check expect status 200
    timeout client 30s
    timeout server 20s
    option forwardfor
    balance roundrobin
    # A request is sent to another replica only if no replica received it.
    option redispatch
    retries 2
    errorfile 502 ${unavailable}
    errorfile 503 ${unavailable}
    errorfile 504 ${unavailable}
${services.join("\n")}
`;
}

/** HAProxy's response while no replica can respond: 503, as from a replica that cannot reach the database. */
export const UNAVAILABLE_HTTP = `HTTP/1.1 503 Service Unavailable
Content-Type: application/problem+json
Cache-Control: no-store
Retry-After: 1
Connection: close

{"type":"urn:keyroot:error:UNAVAILABLE","title":"unavailable","status":503,"code":"UNAVAILABLE","detail":"No replica can answer: try again later."}
`;
