import { makeSafetyCode } from "keyroot/safety-code";
import { useMemo } from "react";
import { Button, Text, View } from "react-native";
import { keyType } from "./config";
import { me } from "./keys";

/** Shows the safety code of this user and a contact. @param verified the contact's verified key */
export function SafetyCode({ name, verified, onClose }) {
  const digits = useMemo(() => {
    const { record, publicKey } = verified;
    return makeSafetyCode(me, { userID: record.userID, publicKey }, keyType).digits;
  }, [verified]);
  return (
    <View>
      <Text>{`Read these digits to ${name}. If one differs, someone has exchanged a key.`}</Text>
      <Text aria-label="Safety code" style={{ fontFamily: "monospace", fontSize: 24 }}>
        {digits.match(/\d{5}/g).join(" ")}
      </Text>
      <Button title="Back" onPress={onClose} />
    </View>
  );
}
