import { once } from "node:events";
import { createServer, type Socket } from "node:net";
import { onTestFinished } from "vitest";

/** What one conversation left. */
export interface ReceivedMail {
  login: string | undefined;
  from: string;
  to: string[];
  raw: string;
}

/**
 * A mail server (RFC 5321) that keeps what it gets; `refuse`: what it answers to a recipient instead of 250, to that
 * one alone with `only`.
 */
export async function startMailServer(options: { refuse?: string; only?: string } = {}): Promise<{
  port: number;
  received: ReceivedMail[];
}> {
  const received: ReceivedMail[] = [];
  const server = createServer((socket) => converse(socket, options, received));
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(async () => {
    server.close();
    await once(server, "close");
  });
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the mail server has no port");
  return { port: address.port, received };
}

function converse(
  socket: Socket,
  { refuse, only }: { refuse?: string; only?: string },
  received: ReceivedMail[],
): void {
  const mail: ReceivedMail = { login: undefined, from: "", to: [], raw: "" };
  let waiting = "";
  let isData = false;
  const say = (line: string): unknown => socket.write(`${line}\r\n`);
  const command = (line: string): void => {
    const word = line.slice(0, 4).toUpperCase();
    if (word === "EHLO") socket.write("250-test\r\n250 AUTH PLAIN\r\n");
    else if (word === "AUTH") {
      mail.login = Buffer.from(line.split(" ")[2] ?? "", "base64").toString("utf8");
      say("235 welcome");
    } else if (word === "MAIL") {
      mail.from = line;
      say("250 ok");
    } else if (word === "RCPT") {
      const isRefused = refuse !== undefined && (only === undefined || line.includes(only));
      if (!isRefused) mail.to.push(line);
      say(isRefused ? refuse : "250 ok");
    } else if (word === "DATA") {
      isData = true;
      say("354 go on");
    } else if (word === "STAR") say("502 not here");
    else if (word === "QUIT") socket.end("221 bye\r\n");
    else say("250 ok");
  };
  socket.on("data", (bytes) => {
    waiting += bytes.toString("latin1");
    for (;;) {
      const end = isData ? waiting.indexOf("\r\n.\r\n") : waiting.indexOf("\r\n");
      if (end < 0) return;
      const taken = waiting.slice(0, end);
      waiting = waiting.slice(end + (isData ? 5 : 2));
      if (!isData) command(taken);
      else {
        isData = false;
        received.push({ ...mail, raw: taken });
        say("250 kept");
      }
    }
  });
  socket.on("error", () => socket.destroy());
  say("220 test");
}
