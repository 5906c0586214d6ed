import { between, named } from "#src/contract/shapes/kinds.ts";
import { Type } from "typebox";
import { reply } from "#api/openapi/answers.ts";
import { refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { AccountDeps } from "#api/account/deps.ts";
import { isRefusal } from "#src/contract/refusals.ts";
import { rotatedKey, rotatedKeyExample } from "#src/contract/shapes/account.ts";
import { formatTime } from "#src/domain/time.ts";
import { overlapDays, rotateKeyRepeatably } from "#src/keys/rotation.ts";

const [daysLeast, daysMost] = overlapDays;

const rotation = named("KeyRotation", {
  days: Type.Optional(between("After so many days the old key ends", daysLeast, daysMost, 7)),
  request_id: Type.String({
    minLength: 16,
    maxLength: 128,
    description: "A random text of your own, for example a UUID: with it you may ask again",
  }),
});

const whyNot: Record<string, string> = {
  ending: "This key has an end already.",
  new: "This key is less than a day old.",
};

/** POST /keys/rotate, decisions 8.36 and 8.37: replaces the key that the call is made with. */
export const rotateKeyRoute = ({ db, config, clock }: AccountDeps) =>
  route({
    method: "POST",
    path: "/keys/rotate",
    access: "secret",
    summary: "Replace your key by a new one",
    answers: {
      operationId: "rotateKey",
      tag: "Account",
      description:
        "The new key has the settings of the one that you call with, and is shown in this answer only. Both work until `old_key_ends`. If the answer is lost, ask again with the same `request_id` within an hour, before the new key is used: you get the same answer.",
      replies: { 201: reply("The new key", rotatedKey, rotatedKeyExample) },
      problems: ["key-not-replaceable"],
      bodyExamples: {
        "with a week for the change": { days: 7, request_id: rotatedKeyExample.request_id },
      },
    },
    body: rotation,
    async handle(ctx) {
      const { key, body } = ctx.state;
      const { days = 7, request_id } = body;
      const pepper = config.reporterPepper;
      const wish = { days, requestId: request_id };
      const rotated = await rotateKeyRepeatably({ db, pepper }, key, wish, clock());
      if (isRefusal(rotated)) {
        throw refused(
          "key-not-replaceable",
          whyNot[rotated.about?.state ?? ""] ?? "This key is not in force any more.",
        );
      }
      ctx.status = 201;
      ctx.set("Cache-Control", "no-store");
      ctx.body = {
        key: rotated.text,
        prefix: rotated.key.prefix,
        old_key_ends: formatTime(rotated.ends.getTime()),
        request_id,
      };
    },
  });
