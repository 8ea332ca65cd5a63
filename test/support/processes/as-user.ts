import { main } from "../../../src/cli/program.ts";

/**
 * Runs command lines one after the other as a user without rights of its own, in one process: `as-user.ts '{uid, gid,
 * groups, lines}'`. Prints `end EXIT` on a line of its own after each of them; what one of them says on stderr stands
 * among it.
 */
interface Wanted {
  uid: number;
  gid: number;
  groups: number[];
  lines: { words: string[]; environment: Record<string, string> }[];
}

const wanted: Wanted = JSON.parse(process.argv[2] ?? "{}");
process.setgroups?.(wanted.groups);
process.setgid?.(wanted.gid);
process.setuid?.(wanted.uid);
const stderr = process.stdout.write.bind(process.stdout);
process.stderr.write = (text: string | Uint8Array) => stderr(text);
for (const { words, environment } of wanted.lines) {
  const code = await main(words, environment, () => Promise.reject(new Error("nothing answers health questions here")));
  process.stdout.write(`\nend ${code}\n`);
}
