/** A first call that works with any country, in three languages. `base` is the service's address. */
export const examples = (base: string): { name: string; text: string }[] => {
  const url = `${base}/api/v1/partner/stations/all?limit=3`;
  return [
    {
      name: "curl",
      text: `curl -H "Authorization: Bearer $FUELMARK_KEY" \\
  "${url}"`,
    },
    {
      name: "TypeScript",
      text: `const response = await fetch("${url}", {
  headers: { Authorization: \`Bearer \${process.env.FUELMARK_KEY}\` },
});
if (!response.ok) throw new Error(await response.text());
const { stations, as_of } = await response.json();
console.log(as_of, stations);`,
    },
    {
      name: "Python",
      text: `import json, os, urllib.request

request = urllib.request.Request(
    "${url}",
    headers={"Authorization": "Bearer " + os.environ["FUELMARK_KEY"]},
)
with urllib.request.urlopen(request) as response:
    answer = json.load(response)
print(answer["as_of"], answer["stations"])`,
    },
  ];
};
