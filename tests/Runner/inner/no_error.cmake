# ends well
