import { refused } from "#api/http/errors.ts";
import { route } from "#api/http/route.ts";
import type { MarkDeps } from "#api/marks/intake.ts";
import { reply } from "#api/openapi/answers.ts";
import { forgetBody, userRefMax } from "#src/contract/report.ts";
import { erasedPerson } from "#src/contract/shapes/marks.ts";
import { erasePerson } from "#src/marks/erasure.ts";

const replies = {
  200: reply("What was erased", erasedPerson, { erased: true }),
};

/** DELETE /users/{user_ref}: erases a user of the partner's, decisions 19.5. */
export const eraseUserRoute = ({ db, config }: MarkDeps) =>
  route({
    method: "DELETE",
    path: "/users/{user_ref}",
    access: "secret",
    summary: "Erase one of your users",
    answers: {
      operationId: "eraseUser",
      tag: "Marks",
      description:
        "Nothing leads to the user any more: the marks stay and count as before, without positions, comments and `external_id`. Statuses do not change. The next mark with this `user_ref` is a new user's. Safe to repeat: for an unknown user `erased` is false.",
      replies,
    },
    async handle(ctx) {
      // A query is the rest of a `user_ref` whose "?" was not encoded: the path names somebody else.
      if (ctx.querystring !== "") throw cut;
      const userRef = ctx.params["user_ref"]!;
      if ([...userRef].length > userRefMax) throw tooLong;
      ctx.body = await erasePerson(db, config, { partner: ctx.state.key.partnerId, userRef });
    },
  });

/** POST /widget/forget: the same for the viewer's device. Its id is the proof. */
export const forgetDeviceRoute = ({ db, config }: MarkDeps) =>
  route({
    method: "POST",
    path: "/widget/forget",
    access: "any",
    summary: "Erase the viewer's device",
    answers: {
      operationId: "forgetDevice",
      tag: "Widget",
      description:
        "Nothing leads to the device any more; its marks stay and count as before, without positions and comments. The id itself is the proof. Safe to repeat.",
      replies,
      bodyExamples: { "this device": { device: "5f1d7c2e-anonymous-device" } },
    },
    body: forgetBody,
    async handle(ctx) {
      ctx.body = await erasePerson(db, config, { device: ctx.state.body.device });
    },
  });

const wrongRef = (msg: string, type: string, more?: object) =>
  refused("validation-failed", [{ loc: ["path", "user_ref"], msg, type, ...more }]);
const cut = wrongRef(
  "String should be percent-encoded, ? as %3F: no query here",
  "string_encoding",
);
const tooLong = wrongRef(`String should have at most ${userRefMax} characters`, "string_too_long", {
  ctx: { max_length: userRefMax },
});
