// Runs the Postman collection against the running system: the journey as a new student, then every request of the
// reference as that student, and at the end a sign-in with the same password. A failed assertion is a failure.
//   BASE_URL, SANDBOX_URL and DEMO_PASSWORD name the system; the argument is the collection.
import { randomInt, randomUUID } from "node:crypto";
import newman from "newman";

const collection = process.argv[2];
const number = String(randomInt(1e7)).padStart(7, "0");
const email = `postman.${number}@student.unilag.edu.ng`;
const password = randomUUID();
const variables = {
  baseUrl: process.env.BASE_URL,
  sandboxUrl: process.env.SANDBOX_URL,
  vendorPassword: process.env.DEMO_PASSWORD,
  studentEmail: email,
  studentPassword: password,
  studentPhone: `+234806${number}`,
  email,
  password,
};
const envVar = Object.entries(variables).map(([key, value]) => ({ key, value }));

/** Run one folder or request, and return its executions. */
function run(folder) {
  return new Promise((resolve, reject) => {
    newman.run({ collection, folder, envVar, timeoutRequest: 60_000, reporters: [] }, (error, summary) => {
      if (error) return reject(error);
      const { executions, failures } = summary.run;
      for (const { source, error: failure } of failures) console.error(`${source?.name}: ${failure.message}`);
      const statuses = {};
      for (const { response } of executions) {
        const family = response ? `${Math.floor(response.code / 100)}xx` : "none";
        statuses[family] = (statuses[family] ?? 0) + 1;
      }
      console.log(`${folder}: ${executions.length} requests, ${failures.length} failures, ${JSON.stringify(statuses)}`);
      if (failures.length > 0 || executions.length === 0) process.exitCode = 1;
      resolve(executions);
    });
  });
}

await run("Journey");
await run("Reference");
const [signIn] = await run("Log in");
if (signIn?.response?.code !== 200) {
  console.error("After the reference the student cannot sign in with the same password.");
  process.exitCode = 1;
}
