/** What the test run's launcher provides. Throws when a test that needs servers was started without it. */
export function provided(
  name: "TEST_DATABASE_URL" | "TEST_REDIS_URL" | "TEST_TEMPLATE" | "TEST_DATA",
): string {
  const value = process.env[name];
  if (!value) {
    throw new Error(
      `this test needs servers: run it as \`npm test -- <file>\` (${name} is not set)`,
    );
  }
  return value;
}
