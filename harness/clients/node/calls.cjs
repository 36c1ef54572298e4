// The protocol of docs/clients.md: a line of JSON is a call, and its answer is a line of JSON.
const readline = require("node:readline");

const REQUEST_MS = 30000;
const LIMITS = { pollMs: 200, pollRecords: 5, sessionMs: 30000, heartbeatMs: 300, requestMs: REQUEST_MS };

// The reason why a client has no such call.
class Lacks extends Error {}

async function answered(driver, asked) {
  const { call, ...given } = asked;
  try {
    if (!driver.calls.includes(call)) throw new Lacks(`no call ${call}`);
    const found = await within(driver[call](given), REQUEST_MS, call);
    return { answer: found === undefined ? null : found };
  } catch (problem) {
    if (problem instanceof Lacks) return { lacks: problem.message };
    console.error(problem);
    return { error: `${problem.name}: ${problem.message}` };
  }
}

function within(promise, limitMs, what) {
  let timer;
  const late = new Promise((_, reject) => {
    timer = setTimeout(() => reject(new Error(`${what}: not done in ${limitMs} ms`)), limitMs);
  });
  return Promise.race([promise, late]).finally(() => clearTimeout(timer));
}

async function serve(driver) {
  for await (const line of readline.createInterface({ input: process.stdin })) {
    const said = JSON.stringify(await answered(driver, JSON.parse(line)));
    process.stdout.write(`${said}\n`);
  }
  await within(driver.close(), 10000, "close").catch((problem) => console.error(problem));
  process.exit(0);
}

const bytesOf = (text) => (text === null ? null : Buffer.from(text));
const textOf = (data) => (data === null || data === undefined ? null : data.toString());

module.exports = { LIMITS, Lacks, bytesOf, serve, textOf, within };
