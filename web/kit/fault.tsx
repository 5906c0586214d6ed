/** The reason of a refusal, shown as soon as there is one. */
export const Fault = ({ words, id }: { words: string | null; id?: string }) =>
  words === null ? null : (
    <p class="fault" role="alert" id={id}>
      {words}
    </p>
  );
