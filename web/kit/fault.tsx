/** Why something was refused, as soon as it was. */
export const Fault = ({ words, id }: { words: string | null; id?: string }) =>
  words === null ? null : (
    <p class="fault" role="alert" id={id}>
      {words}
    </p>
  );
