import { useState } from "react";
import { Button, Text, View } from "react-native";
import { makeRecoverySheet, registerFirstKey } from "./account";

/** Makes the user's account, and shows the sheet that the user writes down before the first key is registered. */
export function RecoverySheet() {
  const [sheet, setSheet] = useState();
  const [status, setStatus] = useState("");
  const register = async () => {
    setStatus("Please wait …");
    setStatus(await registerFirstKey(sheet).catch(({ message }) => message));
  };
  return (
    <View>
      <Text role="heading">Recovery sheet</Text>
      <Text>If you lose your phone, only this sheet gives you your account back. We never ask you for it.</Text>
      {sheet === undefined ? (
        <Button title="Make my recovery sheet" onPress={() => setSheet(makeRecoverySheet())} />
      ) : (
        <>
          <Text aria-label="Recovery sheet" style={{ fontFamily: "monospace", fontSize: 20 }}>
            {sheet.text}
          </Text>
          <Button title="I have written it down" onPress={register} />
        </>
      )}
      <Text role="status">{status}</Text>
    </View>
  );
}
