/** Names of this machine in the forms that people write in URLs. */
export const LOCAL_HOSTS = [
  ...[
    "localhost",
    "LOCALHOST",
    "localhost.",
    "node.localhost",
    "127.0.0.1",
    "127.1",
    "127.9.9.9",
    "2130706433",
    "0x7f.1",
  ],
  ...["[::1]", "[0:0:0:0:0:0:0:1]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]", "[::FFFF:127.2.3.4]"],
];
