/**
 * The sandbox as a process of its own: prints one JSON line with its address when it listens, ends on SIGTERM or
 * SIGINT.
 */
const [major = 0] = process.versions.node.split(".").map(Number);
if (major < 26) {
  process.stderr.write(`sandbox: Node 26 or newer is needed, this is ${process.versions.node}\n`);
  process.exit(1);
}

void import("./process.ts").then(({ runSandbox }) => runSandbox(process.argv.slice(2)));
