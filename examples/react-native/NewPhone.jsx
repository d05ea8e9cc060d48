import { useState } from "react";
import { Button, Text, TextInput, View } from "react-native";
import { readRecoverySheet, replaceKey } from "./account";

/** Replaces the key of a lost phone with the sheet that the user wrote down. */
export function NewPhone() {
  const [text, setText] = useState("");
  const [status, setStatus] = useState("");
  const replace = async () => {
    setStatus("Please wait …");
    try {
      setStatus(await replaceKey(readRecoverySheet(text)));
      setText("");
    } catch ({ message }) {
      setStatus(message);
    }
  };
  return (
    <View>
      <Text role="heading">New phone</Text>
      <Text>Type your recovery sheet. Messages to your old phone stay unreadable on this one.</Text>
      <TextInput
        aria-label="Recovery sheet"
        style={{ borderWidth: 1, fontFamily: "monospace", fontSize: 20 }}
        multiline
        autoCapitalize="none"
        autoComplete="off"
        autoCorrect={false}
        value={text}
        onChangeText={setText}
      />
      <Button title="Use this phone" disabled={text === ""} onPress={replace} />
      <Text role="status">{status}</Text>
    </View>
  );
}
